import type { FailureCode, SkipReason } from './score.ts'

/** What each reason for which a score is skipped means: the scorer was never asked, or there was nothing to ask about. */
export const skipReasons: Readonly<Record<SkipReason, string>> = {
  filtered: "The scorer's `agent` or `when` left the run out.",
  'not-applicable': 'There is nothing in this run that the scorer could score, such as no tool call.',
  'no-content':
    'The spans do not hold the messages, arguments or results that the scorer reads. The message names the setting.',
  'no-output': 'The run ended without an answer.',
  'run-failed': 'The run failed before there was anything to score. An outage is not a bad score.',
  'not-finished': 'The run waits for something outside of it, such as an approval or a tool of the client.',
  incomplete: 'The run was given up at a limit, or the spans that were kept do not make a run.',
  'sampled-out': 'The run is not among those that `sample` keeps.',
  thinned:
    'The budget lowers the rate of judges, and the run is not among those that the lower rate keeps. Weights make up for it.',
  refused:
    'The run was chosen, and the budget had no room for it, it would have counted for more than 1,000 runs, or it is too large to be handed to a judge worker.',
  'circuit-open': 'The judge failed repeatedly, or cannot answer, and is not asked for a while.',
  'judge-unavailable': 'The key or the package of the judge is missing, or no judge worker has this version of it.',
  unsampled: 'The span is recorded but not sampled. `scoreUnsampled` has it judged.',
  'already-scored': 'The span carries this score already: two scoring processors see the same spans.',
  'queue-full': 'More scores waited than `queueSize` allows.',
  expired: 'The score waited for so long that its run is no longer of interest.',
  shutdown: 'The process was shut down before the score was in.',
}

/** What each code with which a score fails means: the scorer was asked, and gave no valid score. */
export const failureCodes: Readonly<Record<FailureCode, string>> = {
  'scorer-threw': 'The scorer, its `when` or its `sample` threw or rejected.',
  'scorer-timeout': 'The scorer took longer than `timeoutMs`.',
  'invalid-score': "What the scorer gave is no number within the scorer's range.",
  'redact-failed': '`redact` threw or gave no run. Nothing was sent to the judge.',
  'judge-timeout': 'The judge did not answer within `timeoutMs`.',
  'judge-http': 'The judge could not be reached, or its server answered with an error.',
  'judge-auth': "The judge's server refused the key.",
  'judge-quota': "The judge's account is out of credit, or over its rate limit.",
  'judge-refused': "The judge, or its provider's content filter, refused to answer.",
  'judge-invalid-reply': 'The reply of the judge does not have the shape that was asked for, also after a repair.',
  'judge-unanswered': 'The judge left questions open, also when it was asked again.',
  'judge-compromised': 'The judge answered a control question wrongly: it was talked into something.',
}
