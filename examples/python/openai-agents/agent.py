from agents import Agent, Runner, function_tool


@function_tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    return f'{{"city": "{city}", "celsius": 4}}'


agent = Agent(
    name="weather_agent",
    instructions="You answer questions about the weather.",
    model="gpt-5-mini",
    tools=[get_weather],
)
print(Runner.run_sync(agent, "What is the weather in Oslo?").final_output)
