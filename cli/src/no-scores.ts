/** What to do if files hold no scores. */
export const NO_SCORES =
  'no scores in the files: give the events (gen_ai.evaluation.result) beside the traces, or write them with spanscore score FILE --out scores.jsonl'
