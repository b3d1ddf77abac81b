import type { SectionDraft } from './prompt/section.ts'

/** A question with a closed set of verdicts. It is trusted text, and must never quote the judged run. */
export interface Question {
  /** What the question is about, with one answer for each id. The judge sees these ids. */
  readonly ids: readonly string[]
  readonly text: string
  /** From most to least favourable. */
  readonly verdicts: readonly string[]
  readonly tools?: ToolChoice
}

/** The offered tools, or the calls that were made, of which an answer may name some. */
export interface ToolChoice {
  /** What the ids are those of, and the key of the reply. @default 'tools' */
  readonly of?: 'tools' | 'calls'
  /** The ids that the material gives to them. */
  readonly ids: readonly string[]
  /** The id of each tool, for judges that name tools by name. Names are untrusted, and never shown with the question. */
  readonly byName: ReadonlyMap<string, string>
  /** Verdicts with which tools are read; with any other they are ignored. */
  readonly with: readonly string[]
  /** Verdicts that do not count unless a tool is named. @default none */
  readonly neededWith?: readonly string[]
}

/** Items that the judge finds in the material, each with a verdict if the list has a question. */
export interface ItemList {
  /** The key in the reply, such as `claims`. */
  readonly name: string
  /** The first letters of the ids under which missing verdicts are asked for: `c` for c1, c2, … */
  readonly prefix: string
  /** Describes an item. It is trusted text. */
  readonly instruction: string
  /** The question about each item; without one, items are only listed. */
  readonly question?: Omit<Question, 'ids'> | undefined
  /** The most items. Further ones are ignored. */
  readonly max: number
  /** Whether an empty list is asked for once more, and is then `failed: judge-unanswered`. @default false */
  readonly mustHaveItems?: boolean
  /** Whether a reply without this list counts as one in which it is empty. @default false */
  readonly isOptional?: boolean
}

/** An explanation by the judge that never counts. */
export interface Note {
  readonly name: string
  readonly instruction: string
  /** Whether it is a list of short texts. @default false */
  readonly list?: boolean
}

/** Everything that one reply of a judge must answer. */
export interface Inquiry {
  /** What is judged, and by which measure. It is trusted, and part of the system message. */
  readonly role: string
  /** Untrusted: quoted between marks, and cut to fit the prompt. */
  readonly sections: readonly SectionDraft[]
  readonly questions: readonly Question[]
  readonly lists?: readonly ItemList[]
  readonly notes?: readonly Note[]
}

/** A valid answer: one of the allowed verdicts. */
export interface Answer {
  readonly verdict: string
  readonly reasoning: string
  /** Ids of the tools or calls that it names. */
  readonly tools: readonly string[]
}

/** An item that the judge found; `answer` is set if the list has a question. */
export interface Item {
  readonly id: string
  readonly text: string
  readonly answer?: Answer
}

/** The answers to every question of an inquiry. */
export interface Answers {
  /** By question id. */
  readonly answers: ReadonlyMap<string, Answer>
  /** By list name. */
  readonly items: ReadonlyMap<string, readonly Item[]>
  /** By name. */
  readonly notes: ReadonlyMap<string, readonly string[]>
}
