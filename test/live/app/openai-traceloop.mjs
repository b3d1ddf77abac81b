export { traceAgent, traceTool } from './traceloop-loop.mjs'
