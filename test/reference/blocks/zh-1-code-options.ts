import { createToolCallAccuracyScorerCode as createCodeScorer } from 'spanscore/scorers/prebuilt'

// As it stands in the document:
// Standard mode - passes if expected tool is called
const lenientScorer = createCodeScorer({
expectedTool: "search-tool",
strictMode: false,
});
// Strict mode - only passes if exactly one tool is called
const strictScorer = createCodeScorer({
expectedTool: "search-tool",
strictMode: true,
});
// Order checking with strict mode
const strictOrderScorer = createCodeScorer({
expectedTool: "step1-tool",
expectedToolOrder: ["step1-tool", "step2-tool", "step3-tool"],
strictMode: true, // no extra tools allowed
});

export { lenientScorer, strictOrderScorer, strictScorer }
