import { describe, expect, it } from 'vitest'
import { withZod } from './with-zod.ts'

const failing = (code: string, message: string) => () => Promise.reject(Object.assign(new Error(message), { code }))

describe('a command that needs zod', () => {
  it('says what to do if zod is missing or too old, and passes other errors on', async () => {
    const missing = failing('ERR_MODULE_NOT_FOUND', "Cannot find package 'zod' imported from /app/chunk.js")
    await expect(withZod(missing)).rejects.toThrow('npm install zod')
    const old = failing(
      'ERR_PACKAGE_PATH_NOT_EXPORTED',
      "Package subpath './v4' is not defined by exports in /app/zod/package.json",
    )
    await expect(withZod(old)).rejects.toThrow('zod 3.25 or later')
    await expect(
      withZod(failing('ERR_MODULE_NOT_FOUND', "Cannot find package 'p-map' imported from /home/zod/x.js")),
    ).rejects.toThrow('p-map')
    expect(await withZod(() => Promise.resolve(1))).toBe(1)
  })
})
