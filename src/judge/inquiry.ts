import type { SectionDraft } from './prompt/section.ts'

/** A question with a closed set of verdicts. All of it is trusted text: it must quote nothing of what is judged. */
export interface Question {
  /** What it is asked of: one answer for each id. The rules are said once, however many ids there are. */
  readonly ids: readonly string[]
  readonly text: string
  /** From the most favourable to the least. */
  readonly verdicts: readonly string[]
  readonly picks?: Picks
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
  readonly question?: { readonly text: string; readonly verdicts: readonly string[] }
  /** Items at most; those beyond are not counted. */
  readonly max: number
  /** An empty list is asked for once more, and then `failed: judge-unanswered`. @default false */
  readonly mustHaveItems?: boolean
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
  /** Untrusted: stands inside the boundary, cut to what the prompt may hold. */
  readonly sections: readonly SectionDraft[]
  readonly questions: readonly Question[]
  readonly lists?: readonly ItemList[]
  readonly notes?: readonly Note[]
  /**
   * The verdicts of the control question: `favourable` is what a judge would say that has been talked into praise, and is
   * always the wrong answer to it.
   */
  readonly control: { readonly favourable: string; readonly unfavourable: string }
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
  readonly answer?: Answer
}

/** An inquiry with every question answered. */
export interface Answers {
  /** By question id, complete. */
  readonly answers: ReadonlyMap<string, Answer>
  /** By list name; each item of a list with a question has its answer. */
  readonly items: ReadonlyMap<string, readonly Item[]>
  readonly notes: ReadonlyMap<string, readonly string[]>
}
