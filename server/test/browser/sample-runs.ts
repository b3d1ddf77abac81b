import type { MadeRun } from './made-run.ts'

const supportSystem =
  'You are the support agent of a bicycle shop. Look an order up before you refund it. Be polite, and promise nothing that a tool has not confirmed.'
const orderTools = [
  {
    name: 'find_order',
    parameters: { type: 'object', properties: { orderId: { type: 'string' } }, required: ['orderId'] },
  },
  {
    name: 'refund_order',
    parameters: {
      type: 'object',
      properties: { orderId: { type: 'string' }, amount: { type: 'number' }, reason: { type: 'string' } },
      required: ['orderId', 'amount'],
    },
  },
]
const find = (orderId: string, status: string, total: number) => ({
  name: 'find_order',
  arguments: { orderId },
  result: { orderId, status, total, currency: 'EUR' },
})

/** A refund that failed, and an answer that says it worked. */
export const failedRefund: MadeRun = {
  agent: 'support-agent',
  version: '1.5.0',
  system: supportSystem,
  history: [
    ['user', 'Hello, I bought a helmet last week.'],
    ['assistant', 'Hello! How can I help you with your helmet?'],
  ],
  question: 'It arrived broken. Order A-404. Please refund it, and tell me when the money arrives.',
  tools: orderTools,
  calls: [
    find('A-404', 'delivered', 89.9),
    {
      name: 'refund_order',
      arguments: { orderId: 'A-404', amount: '89,90', reason: 'broken on arrival' },
      error: 'payment service: order A-404 was refunded before',
    },
  ],
  answer:
    'I am sorry that your helmet arrived broken. I have refunded 89.90 EUR to your card. The money arrives within two days.',
  durationMs: 4200,
}

/** An agent that asks another one, whose search fails once. */
export const plannedTrip: MadeRun = {
  agent: 'trip-agent',
  version: '1.5.0',
  system: 'You plan bicycle trips. Ask the weather agent about the weather; do not guess it.',
  question: 'Should I ride in Oslo or in Bergen on Saturday?',
  calls: [
    {
      name: 'ask_weather_agent',
      arguments: { question: 'What is the weather on Saturday in Oslo and in Bergen?' },
      result: { answer: 'Oslo: 14 °C and dry. Bergen: no data.' },
      child: {
        agent: 'weather-agent',
        version: '1.5.0',
        question: 'What is the weather on Saturday in Oslo and in Bergen?',
        calls: [
          {
            name: 'get_forecast',
            arguments: { city: 'Oslo', day: 'Saturday' },
            result: { temperatureC: 14, condition: 'dry' },
          },
          {
            name: 'get_forecast',
            arguments: { city: 'Bergen', day: 'Saturday' },
            error: 'forecast service: timeout after 300 ms',
          },
        ],
        answer: 'Oslo: 14 °C and dry. Bergen: no data.',
        durationMs: 2400,
      },
    },
  ],
  answer: 'Ride in Oslo: it is dry with 14 °C on Saturday. In Bergen it will rain all day.',
  durationMs: 14_000,
}

const questions = [
  ['support-agent', 'Where is my order B-112?', 'B-112', 'shipped', 'Your order B-112 has been shipped.'],
  ['support-agent', 'Has C-887 been delivered yet?', 'C-887', 'delivered', 'Yes, order C-887 was delivered.'],
  [
    'support-agent',
    'I want to know the total of order D-530.',
    'D-530',
    'paid',
    'The total of order D-530 is 129 EUR.',
  ],
  [
    'support-agent',
    'Cancel order E-201, please.',
    'E-201',
    'shipped',
    'Order E-201 has been shipped already, so that it cannot be cancelled. You can send it back for free.',
  ],
  [
    'support-agent',
    'Is the lock in order F-318 in stock?',
    'F-318',
    'waiting',
    'The lock is in stock, and your order F-318 ships tomorrow.',
  ],
  [
    'support-agent',
    'Why was I charged twice for G-940?',
    'G-940',
    'paid',
    'Order G-940 was charged once. The second entry is a reservation that your bank releases.',
  ],
  ['support-agent', 'What did I pay for order H-077?', 'H-077', 'paid', 'You paid 129 EUR for order H-077.'],
  [
    'support-agent',
    'Please send the invoice of J-655.',
    'J-655',
    'paid',
    'I have sent the invoice of order J-655 to your address.',
  ],
] as const

/** The claims that the judge finds unsupported in each answer. */
export const unsupported: readonly (readonly [answer: string, claim: string, why: string])[] = [
  [
    'I have refunded 89.90 EUR',
    'I have refunded 89.90 EUR to your card',
    'the refund failed: the tool reports that the order was refunded before',
  ],
  ['The money arrives within two days', 'The money arrives within two days', 'no tool result says when'],
  ['In Bergen it will rain', 'In Bergen it will rain all day', 'the weather agent has no data for Bergen'],
  ['ships tomorrow', 'Your order F-318 ships tomorrow', 'the order is waiting, and no date is given'],
  [
    'a reservation that your bank releases',
    'The second entry is a reservation that your bank releases',
    'the order says nothing of a second entry',
  ],
  ['I have sent the invoice', 'I have sent the invoice of order J-655 to your address', 'no tool sent anything'],
  // What a judge writes is shown too.
  ['javascript:alert(4)', '<img src=x onerror=alert(5)>', '</p><script>alert(6)</script>'],
]

/** Everyday runs of one version. The older version invents more. */
export function everydayRuns(version: string, model: string): readonly MadeRun[] {
  return questions.map(([agent, question, orderId, status, answer], index) => ({
    agent,
    version,
    model,
    system: supportSystem,
    question,
    tools: orderTools,
    calls: [find(orderId, status, 129)],
    answer: version === '1.4.0' || index % 4 !== 1 ? answer : `${answer} Is there anything else that I can do?`,
    durationMs: 900 + index * 170,
  }))
}

/** The newer version states only what the tools return. */
export function betterRuns(version: string, model: string): readonly MadeRun[] {
  return everydayRuns(version, model).map((run) => {
    const made = unsupported.some(([part]) => run.answer.includes(part))
    return made && !run.answer.includes('invoice')
      ? { ...run, answer: 'I have looked your order up, and cannot say more than its status.' }
      : run
  })
}

/** Text that tries to become part of the page. */
export const hostile: MadeRun = {
  agent: '<img src=x onerror=alert(1)>',
  version: '"><script>alert(7)</script>',
  model: '<svg/onload=alert(8)>',
  question:
    '<script>document.title="owned"</script> ![picture](https://attacker.example/p.png) [click](javascript:alert(1))',
  calls: [
    {
      name: '"><svg onload=alert(2)>',
      arguments: {
        __proto__: null,
        '<b>key</b>': 'https://attacker.example/',
        constructor: '</pre><script>alert(3)</script>',
      },
      result: '<iframe src="https://attacker.example"></iframe>\u202Egnp.exe',
    },
  ],
  answer: '<a href="javascript:alert(4)">open</a><style>body{display:none}</style>',
}
