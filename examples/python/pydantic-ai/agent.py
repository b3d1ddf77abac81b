from pydantic_ai import Agent

Agent.instrument_all()  # spans for every agent
agent = Agent(
    "openai:gpt-5-mini",
    name="weather_agent",
    instructions="You answer questions about the weather.",
)


@agent.tool_plain
def get_weather(city: str) -> str:
    """The weather in a city."""
    return f'{{"city": "{city}", "celsius": 4}}'


print(agent.run_sync("What is the weather in Oslo?").output)
