import type { SectionDraft } from './prompt/section.ts'

/** A question with a closed set of verdicts. All of it is trusted text: it must quote nothing of what is judged. */
export interface Question {
  /**
   * What it is asked of: one answer for each id. The rules are given once, however many ids there are. These are our own names:
   * the judge is shown others, drawn for each call.
   */
  readonly ids: readonly string[]
  readonly text: string
  /** From the most favourable to the least. */
  readonly verdicts: readonly string[]
  readonly picks?: Picks
  /** The ids name what the material names so as well, such as `call_3`: the judge is shown both names. @default false */
  readonly namesMaterial?: boolean
  /** Whether a text that makes no sense is known to earn the last verdict, so that a decoy can be asked about. @default false */
  readonly failsNonsense?: boolean
}

/**
 * Ids out of which an answer may pick some, such as the tools of a catalogue. An answer with picks where they are `forbidden`,
 * or without where they are `required`, contradicts itself and is no answer.
 */
export interface Picks {
  /** Key in the answer. */
  readonly name: string
  readonly from: readonly string[]
  /** The id of each name, for judges that pick by name. Untrusted, and never shown with the question. */
  readonly byName?: ReadonlyMap<string, string>
  /** Verdicts that are none without picks. */
  readonly required?: readonly string[]
  /** Verdicts with which picks are asked for once more where there are none; the verdict counts all the same. */
  readonly wanted?: readonly string[]
  /** Verdicts that are none with picks. */
  readonly forbidden?: readonly string[]
}

/** Items that the judge is to find in the material, each with an id, each to be answered for like any question. */
export interface ItemList {
  /** Key in the reply, such as `claims`. */
  readonly name: string
  /** First letters of the ids: `c` for c1, c2, … */
  readonly prefix: string
  /** What is an item, trusted. */
  readonly instruction: string
  /** Asked of each item; left out, the items are only listed. */
  readonly question?: { readonly text: string; readonly verdicts: readonly string[] } | undefined
  /** Items at most; those beyond are not counted. */
  readonly max: number
  /** An empty list is asked for once more, and then `failed: judge-unanswered`. @default false */
  readonly mustHaveItems?: boolean
  /** Title of the section that the items come from. Its sentences are numbered, and every item names the one it comes from. */
  readonly from: string
  /** Whether every sentence of that section must have an item, or be listed as one that has none. @default true */
  readonly coversAll?: boolean
}

/** Words of the judge that explain, and never count. */
export interface Note {
  readonly name: string
  readonly instruction: string
  /** A list of short texts instead of one. @default false */
  readonly list?: boolean
}

/** All that one reply of a judge is to answer. */
export interface Inquiry {
  /** What is judged and by which measure: trusted, part of the system message. */
  readonly role: string
  /** Untrusted: shown inside the boundary, cut to what the prompt may hold. */
  readonly sections: readonly SectionDraft[]
  readonly questions: readonly Question[]
  readonly lists?: readonly ItemList[]
  readonly notes?: readonly Note[]
  /**
   * Title of the section of which a decoy is shown as well: the same questions are asked about a version of it that makes no
   * sense, and a judge that praises that version is not believed. @default none
   */
  readonly vary?: string | undefined
  /** Ids of questions that are controls of the caller's own. @default none */
  readonly decoys?: ReadonlySet<string>
}

/** An answer that counts: one of the verdicts that were asked for. */
export interface Answer {
  readonly verdict: string
  readonly reasoning: string
  readonly picks: readonly string[]
}

/** An item that the judge found; `answer` where the list has a question. */
export interface Item {
  readonly id: string
  readonly text: string
  /** Number of the sentence that it comes from, from 1. */
  readonly sentence: number
  readonly answer?: Answer
}

/** An inquiry with every question answered. */
export interface Answers {
  /** By question id, complete. */
  readonly answers: ReadonlyMap<string, Answer>
  /** By list name; each item of a list with a question has its answer. */
  readonly items: ReadonlyMap<string, readonly Item[]>
  /** By list name: the numbered sentences that its items come from. */
  readonly sentences: ReadonlyMap<string, readonly string[]>
  readonly notes: ReadonlyMap<string, readonly string[]>
}
