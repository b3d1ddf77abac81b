"""The half of a run that another process executes: continues the trace that TRACEPARENT names, with the tool's span."""
import os

from opentelemetry import trace
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

context = TraceContextTextMapPropagator().extract({"traceparent": os.environ["TRACEPARENT"]})
tracer = trace.get_tracer("weather-tools")
with tracer.start_as_current_span("execute_tool weather", context=context) as span:
    span.set_attribute("gen_ai.operation.name", "execute_tool")
    span.set_attribute("gen_ai.tool.name", "weather")
    span.set_attribute("gen_ai.tool.call.id", "call_1")
    span.set_attribute("gen_ai.tool.call.arguments", '{"city": "Oslo"}')
    span.set_attribute("gen_ai.tool.call.result", '"Rain in Oslo."')
