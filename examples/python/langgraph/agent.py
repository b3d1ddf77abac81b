from langchain.agents import create_agent


def get_weather(city: str) -> str:
    """The weather in a city."""
    return f'{{"city": "{city}", "celsius": 4}}'


agent = create_agent(
    "openai:gpt-5-mini",
    name="weather_agent",
    system_prompt="You answer questions about the weather.",
    tools=[get_weather],
)
state = agent.invoke({"messages": [{"role": "user", "content": "What is the weather in Oslo?"}]})
print(state["messages"][-1].content)
