import type { ChatTurn } from '../../../test/fixtures/chat.ts'

/** A user who has to ask again. */
export const parcel: readonly ChatTurn[] = [
  { user: 'Where is my parcel?', answer: 'What is your order number?' },
  { user: 'It is 4711.', answer: 'It is late.', tools: [{ name: 'track', fails: true }] },
  { user: 'Yes, but where is it?', answer: 'I do not know.' },
]

/** A user who gets an answer. */
export const thanks: readonly ChatTurn[] = [
  { user: 'When do you open?', answer: 'At nine.' },
  { user: 'Thank you!', answer: 'You are welcome.' },
]
