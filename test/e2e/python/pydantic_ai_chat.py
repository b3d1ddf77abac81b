"""A chat with Pydantic AI: each line of standard input is a message, and the history goes along as its docs recommend."""
import os
import sys

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

Agent.instrument_all()
model = OpenAIChatModel("gpt-5-mini", provider=OpenAIProvider(base_url=os.environ["MODEL_URL"], api_key="scripted"))
agent = Agent(model, name="shop-clerk", instructions="Help customers with their orders.")


@agent.tool_plain
def find_order(number: str) -> str:
    """The state of an order."""
    return f"Order {number} is on its way."


history = []
for line in sys.stdin:
    result = agent.run_sync(line.strip(), message_history=history)
    history = result.all_messages()
    print(result.output, flush=True)
