import { useLocation } from 'preact-iso'
import { useState } from 'preact/hooks'

import { at, exchange } from '../api.ts'
import { useService } from '../service.ts'
import { messageOf } from '../live.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { placeOf } from '../parts/place.ts'

/** Shown while there are no runs: how to send spans, and a recorded run. */
export function FirstMinute() {
  const { overview } = useService()
  const { route } = useLocation()
  const [way, setWay] = useState('AI SDK')
  const [error, setError] = useState<string>()
  const ways = waysTo(overview.otlpUrl)
  const showExample = () => {
    exchange<{ readonly runId: string }>('/api/example', {}).then(
      ({ runId }) => route(at(placeOf(runId))),
      (problem: unknown) => setError(messageOf(problem)),
    )
  }
  return (
    <section class="first">
      <h1>{overview.runs === 0 ? 'Waiting for the first run' : 'How to send spans'}</h1>
      <p>
        This service takes OpenTelemetry spans at <code>{overview.otlpUrl}</code>. Runs of any agent that sends them
        there appear here by themselves.
      </p>
      <div class="tabs" role="tablist" aria-label="How to send spans">
        {Object.keys(ways).map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={name === way}
            aria-controls="way"
            onClick={() => setWay(name)}
          >
            {name}
          </button>
        ))}
      </div>
      <div class="sample" role="tabpanel" id="way" aria-labelledby={`tab-${way}`}>
        <CopyButton text={ways[way] ?? ''} />
        <pre tabIndex={0}>{ways[way]}</pre>
      </div>
      <p>
        <button type="button" class="primary" onClick={showExample}>
          Show a recorded example run
        </button>{' '}
        <span class="muted">It is read from this package, and sent nowhere.</span>
      </p>
      {error !== undefined && <p class="problem">{error}</p>}
    </section>
  )
}

function waysTo(url: string): Readonly<Record<string, string>> {
  return {
    'AI SDK': `// npm install @ai-sdk/otel @opentelemetry/sdk-node
import { OpenTelemetry } from '@ai-sdk/otel'
import { NodeSDK } from '@opentelemetry/sdk-node'
import { registerTelemetry } from 'ai'

process.env.OTEL_EXPORTER_OTLP_ENDPOINT = '${url}'
new NodeSDK({ serviceName: 'my-agent' }).start()
registerTelemetry(new OpenTelemetry())

// then use agents as before; a name makes them easy to find:
// new ToolLoopAgent({ …, telemetry: { functionId: 'my-agent' } })`,
    Python: `pip install opentelemetry-distro opentelemetry-exporter-otlp
# and for OpenAI Agents: openinference-instrumentation-openai-agents
#     for LangGraph:     openinference-instrumentation-langchain
#     for Pydantic AI nothing more, but call Agent.instrument_all() in your program
export OTEL_SERVICE_NAME=my-agent OTEL_METRICS_EXPORTER=none
export OTEL_EXPORTER_OTLP_ENDPOINT=${url}
export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
opentelemetry-instrument python my_agent.py`,
    curl: `curl ${url}/v1/traces -H 'content-type: application/json' -d "$(cat <<EOF
{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"by-hand"}}]},
"scopeSpans":[{"scope":{"name":"by-hand"},"spans":[{"name":"invoke_agent greeter","kind":1,
"traceId":"$(openssl rand -hex 16)","spanId":"$(openssl rand -hex 8)",
"startTimeUnixNano":"$(date +%s)000000000","endTimeUnixNano":"$(date +%s)500000000","attributes":[
{"key":"gen_ai.operation.name","value":{"stringValue":"invoke_agent"}},
{"key":"gen_ai.agent.name","value":{"stringValue":"greeter"}},
{"key":"gen_ai.input.messages","value":{"stringValue":"[{\\"role\\":\\"user\\",\\"parts\\":[{\\"type\\":\\"text\\",\\"content\\":\\"Say hello.\\"}]}]"}},
{"key":"gen_ai.output.messages","value":{"stringValue":"[{\\"role\\":\\"assistant\\",\\"parts\\":[{\\"type\\":\\"text\\",\\"content\\":\\"Hello!\\"}]}]"}}
]}]}]}]}
EOF
)"`,
  }
}
