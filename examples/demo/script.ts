/** The answers of the scripted model to the demo's agents: right and wrong choices of tools, and an outage. */
import type { ScriptedReply, ScriptedRequest } from 'spanscore/testing'

/** The questions that the demo asks its agents, in order. */
export const questions = {
  weather: [
    'What is the weather in Tokyo?',
    'Compare the weather in Oslo, Bergen and Paris.',
    'What is the weather in Lima?',
    'Is it warm in Paris today?',
  ],
  support: [
    'Order A-100 arrived broken. I want my money back.',
    'Refund order A-404, it never came.',
    'I need help with something.',
  ],
  trip: ['I have two days off. Shall I go to Oslo or to Tokyo?'],
  summary: [
    'Tesla was founded in 2003 by Martin Eberhard and Marc Tarpenning. Elon Musk joined in 2004 as the largest investor and became CEO in 2008. The first car, the Roadster, was launched in 2008.',
    'The company was founded in 1995 by John Smith. It began with ten employees and had grown to 500 by 2020. Its headquarters are in Seattle.',
  ],
  /** One conversation; the page shows it. */
  chat: [
    'My order never came. I want my money back. It is order A-404.',
    'As I said, it is A-404.',
    'That was two days ago, and there is no money. Please let me talk to a person.',
  ],
  outage: ['What is the weather at the station that is down?'],
} as const

const say = (text: string): ScriptedReply => ({ text })
const call = (...calls: [name: string, args: unknown][]): ScriptedReply => ({
  toolCalls: calls.map(([name, args]) => ({ name, arguments: args })),
})

/** Answers one request of an agent, depending on the user's question and the tool results so far. */
export function answerAgent({ userText, toolResults }: ScriptedRequest): ScriptedReply {
  const turn = toolResults.length
  switch (userText) {
    case questions.weather[0]:
      return turn === 0 ? call(['weather-tool', { location: 'Tokyo' }]) : say('It is 22 °C and sunny in Tokyo.')
    case questions.weather[1]:
      return turn === 0
        ? call(
            ['weather-tool', { location: 'Oslo' }],
            ['weather-tool', { location: 'Bergen' }],
            ['weather-tool', { location: 'Paris' }],
          )
        : say('Oslo has 4 °C, Bergen 7 °C and Paris 15 °C, all of them with sun.')
    case questions.weather[2]: // The model chooses the wrong tool: a web search, although a weather tool is available.
      return turn === 0 ? call(['search-tool', { query: 'weather in Lima' }]) : say('I found a travel blog about Lima.')
    case questions.weather[3]: // The model calls no tool, and invents an answer.
      return say('Yes, Paris usually is lovely at this time of the year.')
    case questions.support[0]:
      if (turn === 0) return call(['order-tool', { orderId: 'A-100' }])
      if (turn === 1) return call(['refund-tool', { orderId: 'A-100', reason: 'arrived broken' }])
      return say('I am sorry that it arrived broken. Order A-100 is refunded; you will see 49.90 within three days.')
    case questions.support[1]: // The refund fails, and the agent claims that it worked.
      return turn === 0
        ? call(['refund-tool', { orderId: 'A-404', reason: 'never came' }])
        : say('Done! Your refund for order A-404 is on its way.')
    case questions.support[2]:
      return say('I am happy to help. Which order is it about, and what happened?')
    case questions.chat[0]: // The user has named the order already.
      return say('I am sorry to hear that. What is the number of your order?')
    case questions.chat[1]: // The refund fails again, and again the agent claims that it worked.
      return turn === 0
        ? call(['refund-tool', { orderId: 'A-404', reason: 'never came' }])
        : say('Done! You will have your money tomorrow.')
    case questions.chat[2]:
      return say('I am sorry. Please have a little patience.')
    case questions.trip[0]:
      return turn === 0
        ? call(['ask-weather-agent', { question: questions.weather[0] }])
        : say('Go to Tokyo: it is 22 °C and sunny there. I have not checked Oslo.')
    case questions.summary[0]: // The model names the wrong founder.
      return say('Tesla was founded in 2003 by Elon Musk and launched its first car, the Roadster, in 2008.')
    case questions.summary[1]:
      return say(
        'Founded in 1995 by John Smith, the company grew from ten employees to 500 by 2020 and is based in Seattle.',
      )
    default:
      return { status: 503, error: { message: 'The model is overloaded.', type: 'server_error' } }
  }
}
