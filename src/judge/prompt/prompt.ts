/** A prompt. The system message contains nothing untrusted and is the same for every run, so that providers can cache it. */
export interface Prompt {
  readonly instructions: string
  readonly user: string
}

/** UTF-8 bytes of a whole prompt. */
export function promptBytes({ instructions, user }: Prompt): number {
  return Buffer.byteLength(instructions) + Buffer.byteLength(user)
}
