import { expect, it } from 'vitest'

import { givenHeaders } from './given-headers.ts'

it('takes the headers of the standard variable and of the command line', () => {
  const environment = { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a%3Db, x-tenant = shop ' }
  expect(givenHeaders(['x-tenant=bikes'], environment)).toEqual({ authorization: 'Bearer a=b', 'x-tenant': 'bikes' })
  expect(givenHeaders([], {})).toEqual({})
})

it.each(['secret', 'authorization=%zz', 'a b=secret'])('refuses %j without quoting a value', (list) => {
  const given = (): unknown => givenHeaders([], { OTEL_EXPORTER_OTLP_HEADERS: list })
  expect(given).toThrow(/OTEL_EXPORTER_OTLP_HEADERS|expected a name and a value that HTTP allows/)
  expect(given).not.toThrow(/secret|zz/)
})
