/** Whether schemas, or tools with schemas, may contain patterns. A property named `pattern` also counts. */
export function hasPatterns(schema: unknown, depth = 0): boolean {
  if (typeof schema !== 'object' || schema === null || depth > 100) return false
  if ('pattern' in schema || 'patternProperties' in schema) return true
  return Object.values(schema).some((inner) => hasPatterns(inner, depth + 1))
}
