/** Formats any value for a message: short, and on one line. Never throws. */
export function formatValue(value: unknown, maxLength = 80): string {
  const text = toText(value)
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).toWellFormed()}…`
}

/**
 * Describes an error by the name of its class and by the function and place of its first stack frame. It leaves out the message,
 * which may quote anything. Never throws.
 */
export function describeError(error: unknown): string {
  try {
    if (!(error instanceof Error)) return `a value that is no Error (${typeof error})`
    const name = classNameOf(error, 'Error')
    const frame = firstFrameOf(error)
    return frame === undefined ? name : `${name} ${frame}`
  } catch {
    return 'an error that cannot be read'
  }
}

/** The name of the class of an object; `otherwise` if it has none that can be shown. */
function classNameOf(object: object | null, otherwise: string): string {
  const prototype: unknown = object === null ? null : Object.getPrototypeOf(object)
  const constructor: unknown =
    typeof prototype === 'object' && prototype !== null ? Reflect.get(prototype, 'constructor') : undefined
  return typeof constructor === 'function' && /^[\w$]{1,80}$/.test(constructor.name) ? constructor.name : otherwise
}

/** A function and a place in a file. A stack that came from elsewhere, or was written by hand, may have anything in place of them. */
const FRAME = /^\n\s+(at (?:[\w$.<># ]{1,100} (?:\[as [\w$.]{1,60}\] )?\()?[^\s()]{1,200}:\d{1,9}:\d{1,9}\)?)(?:\n|$)/

/** The stack begins with the message, which may itself look like a frame, so only the text after it is read. */
function firstFrameOf({ message, stack }: Error): string | undefined {
  if (typeof message !== 'string' || typeof stack !== 'string') return undefined
  const begin = stack.indexOf(message)
  if (begin < 0 || begin > 200) return undefined
  return FRAME.exec(stack.slice(begin + message.length, begin + message.length + 300))?.[1]
}

function toText(value: unknown): string {
  try {
    switch (typeof value) {
      case 'function':
        return typeof value.name === 'string' && value.name !== '' ? `the function ${value.name}` : 'a function'
      case 'string':
        return JSON.stringify(value.length > 1000 ? value.slice(0, 1000) : value)
      case 'object':
        return value instanceof Error ? errorText(value) : jsonText(value)
      default:
        // Numbers that are not finite, undefined, symbols and big integers have no JSON form.
        return String(value)
    }
  } catch {
    return `a value that cannot be shown (${typeof value})`
  }
}

/** Name and message of an error are usually texts. `String` converts anything else, symbols included. */
function errorText(error: { readonly name: unknown; readonly message: unknown }): string {
  return `${String(error.name)}: ${String(error.message)}`.slice(0, 2000)
}

/** How many nested values are read: the result is short, so more of them would not be seen. */
const MAX_SHOWN_VALUES = 1000
/** How many characters of a nested text are read. */
const MAX_SHOWN_TEXT = 200

function jsonText(value: object | null): string {
  let left = MAX_SHOWN_VALUES
  try {
    const text: unknown = JSON.stringify(value, (_key, inner: unknown) => {
      left -= 1
      if (left < 0) throw new RangeError('too large to be shown')
      return typeof inner === 'string' && inner.length > MAX_SHOWN_TEXT ? inner.slice(0, MAX_SHOWN_TEXT) : inner
    })
    if (typeof text === 'string') return text
  } catch {
    // Circular values, values whose `toJSON` throws, and large values are described by their type.
  }
  return Array.isArray(value) ? `a list of ${value.length}` : `an object of the class ${classNameOf(value, 'Object')}`
}
