import { createContext } from 'preact'
import type { Context } from 'preact'
import { useContext } from 'preact/hooks'

import type { ServiceOverview } from './api.ts'

interface Service {
  readonly overview: ServiceOverview
  readonly changes: number
}

export const ServiceContext: Context<Service | undefined> = createContext<Service | undefined>(undefined)

/** What the page knows about the service, and the number of changes. */
export function useService(): Service {
  const service = useContext(ServiceContext)
  if (service === undefined) throw new Error('Expected a view within the page.')
  return service
}
