import type { SectionDraft } from './prompt/section.ts'

/** A question with a closed set of verdicts. It is trusted text, and must never quote the judged run. */
export interface Question {
  /**
   * What the question is about, with one answer for each id. The rules are stated once for all ids. These are our own names; the judge sees
   * other ids, drawn for each call.
   */
  readonly ids: readonly string[]
  readonly text: string
  /** From most to least favourable. */
  readonly verdicts: readonly string[]
  /** How many of the first verdicts count for more than the last. Only needed if more than half of them do. @default half, rounded down */
  readonly raising?: number
  readonly picks?: Picks
  /** The material uses these ids too, such as `call_3`, so the judge is shown both. @default false */
  readonly namesMaterial?: boolean
  /** Whether nonsense is known to deserve the last verdict, so that the question can be asked about a decoy. @default false */
  readonly failsNonsense?: boolean
}

/**
 * Ids from which an answer may pick, such as the tools of a catalogue. An answer with picks where they are `forbidden`, or without picks
 * where they are `required`, contradicts itself and does not count.
 */
export interface Picks {
  /** The key in the answer. */
  readonly name: string
  readonly from: readonly string[]
  /** The id of each name, for judges that pick by name. It is untrusted, and never shown with the question. */
  readonly byName?: ReadonlyMap<string, string>
  /** Verdicts that only count with picks. */
  readonly required?: readonly string[]
  /** Verdicts that should come with picks: missing ones are asked for once more, but the verdict counts without them. */
  readonly wanted?: readonly string[]
  /** Verdicts that only count without picks. */
  readonly forbidden?: readonly string[]
}

/** Items that the judge finds in the material. Each gets an id, and is answered for like a question. */
export interface ItemList {
  /** The key in the reply, such as `claims`. */
  readonly name: string
  /** The first letters of the ids: `c` for c1, c2, … */
  readonly prefix: string
  /** Describes an item. It is trusted text. */
  readonly instruction: string
  /** The question about each item; without one, items are only listed. */
  readonly question?: Pick<Question, 'text' | 'verdicts' | 'raising'> | undefined
  /** The most items. Further ones are ignored. */
  readonly max: number
  /** Whether an empty list is asked for once more, and is then `failed: judge-unanswered`. @default false */
  readonly mustHaveItems?: boolean
  /** Title of the section that the items come from. Its sentences are numbered, and every item names its sentence. */
  readonly from: string
  /** Whether every sentence of that section must have an item or be reported as having none. @default true */
  readonly coversAll?: boolean
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
  /** Untrusted: shown inside the boundary, and cut to fit the prompt. */
  readonly sections: readonly SectionDraft[]
  readonly questions: readonly Question[]
  readonly lists?: readonly ItemList[]
  readonly notes?: readonly Note[]
  /**
   * Title of the section that is also shown as a decoy. The same questions are asked about a version that makes no sense; a judge that
   * praises it is not trusted. @default none
   */
  readonly vary?: string | undefined
  /** Ids of questions that the caller uses as controls. @default none */
  readonly decoys?: ReadonlySet<string>
}

/** A valid answer: one of the allowed verdicts. */
export interface Answer {
  readonly verdict: string
  readonly reasoning: string
  readonly picks: readonly string[]
}

/** An item that the judge found; `answer` is set if the list has a question. */
export interface Item {
  readonly id: string
  readonly text: string
  /** The number of its sentence, from 1. */
  readonly sentence: number
  readonly answer?: Answer
}

/** The answers to every question of an inquiry. */
export interface Answers {
  /** Every answer, by question id. */
  readonly answers: ReadonlyMap<string, Answer>
  /** The items by list name, each with its answer if the list has a question. */
  readonly items: ReadonlyMap<string, readonly Item[]>
  /** The numbered sentences of each list, by list name. */
  readonly sentences: ReadonlyMap<string, readonly string[]>
  readonly notes: ReadonlyMap<string, readonly string[]>
  /** By list name, the parts of long sentences that the judge calls bad, although it listed nothing bad of these sentences. */
  readonly doubted?: ReadonlyMap<string, readonly string[]>
}
