import { expect, test } from 'vitest'

import { genAi } from './dialects/gen-ai.ts'
import { mlflow } from './dialects/mlflow/mlflow.ts'
import { isStripped } from './strip-content.ts'

test.each([
  ['gen_ai.request.tools', genAi],
  ['gen_ai.request.functions.0.description', genAi],
  ['gen_ai.request.functions.1.parameters', genAi],
  ['gen_ai.tool.json_schema', genAi],
  ['description', mlflow],
  ['toolsets', mlflow],
  ['root_capability', mlflow],
  ['prompt_templates', mlflow],
  ['error.data', genAi],
])(
  '%s is recorded, holds texts of tools, prompts or errors, and is stripped although no dialect reads it',
  (key, dialect) => {
    expect(isStripped(key, dialect)).toBe(true)
  },
)
