"""A LangGraph agent that searches documents and answers from them: each line of standard input is a question of one thread."""
import os
import sys

from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

store = InMemoryVectorStore(DeterministicFakeEmbedding(size=16))
store.add_documents(
    [
        Document(id="oslo", page_content="Oslo had four degrees below zero on Monday."),
        Document(id="bergen", page_content="Bergen had seven degrees and rain on Monday."),
    ]
)
retriever = store.as_retriever(search_kwargs={"k": 2})
model = ChatOpenAI(model="gpt-5-mini", base_url=os.environ["MODEL_URL"], api_key="scripted")


class State(MessagesState):
    documents: list[Document]


def retrieve(state: State):
    return {"documents": retriever.invoke(state["messages"][-1].content)}


def answer(state: State):
    found = "\n".join(document.page_content for document in state["documents"])
    return {"messages": [model.invoke([("system", f"Answer from these documents:\n{found}"), *state["messages"]])]}


graph = StateGraph(State).add_sequence([retrieve, answer]).add_edge(START, "retrieve").compile(
    checkpointer=InMemorySaver(), name="librarian"
)
config = {"configurable": {"thread_id": "thread-7"}}
for line in sys.stdin:
    state = graph.invoke({"messages": [("user", line.strip())]}, config)
    print(state["messages"][-1].text, flush=True)
