/** The trace of the recorded run that ships with the page. */
export const EXAMPLE_TRACE = 'da07692137b890fef08ba23a39d093fd'
