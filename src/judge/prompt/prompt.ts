/** What is sent: the system message holds nothing untrusted, and is the same for every run, so that providers can cache it. */
export interface Prompt {
  readonly instructions: string
  readonly user: string
}

/** UTF-8 bytes of a prompt, all of it. */
export function promptBytes({ instructions, user }: Prompt): number {
  return Buffer.byteLength(instructions) + Buffer.byteLength(user)
}
