"""An application with the OpenAI Agents SDK. It knows nothing of spanscore: only OTEL_EXPORTER_OTLP_ENDPOINT points at it."""
import os

from agents import Agent, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

OpenAIAgentsInstrumentor().instrument()
set_tracing_disabled(False)


@function_tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"Rain in {city}."


client = AsyncOpenAI(base_url=os.environ["MODEL_URL"], api_key="scripted")
agent = Agent(
    name="weather-agent",
    instructions="Answer questions about the weather.",
    model=OpenAIResponsesModel(model="gpt-5-mini", openai_client=client),
    tools=[weather],
)
print(Runner.run_sync(agent, "What is the weather in Oslo?").final_output)
