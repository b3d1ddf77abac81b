"""An application with Pydantic AI. It knows nothing of spanscore: only OTEL_EXPORTER_OTLP_ENDPOINT points at it."""
import os

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

Agent.instrument_all()
model = OpenAIChatModel("gpt-5-mini", provider=OpenAIProvider(base_url=os.environ["MODEL_URL"], api_key="scripted"))
agent = Agent(model, name="weather-agent", system_prompt="Answer questions about the weather.")


@agent.tool_plain
def weather(city: str) -> str:
    """The weather of a city."""
    return f"Rain in {city}."


print(agent.run_sync("What is the weather in Oslo?").output)
