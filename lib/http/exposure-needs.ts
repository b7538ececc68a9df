import { ServiceError } from '#lib/errors.ts'
import type { Route } from './endpoint.ts'

/** An endpoint without which some others are of no use. */
interface Need {
  readonly id: string
  readonly why: string
  isNeededBy(route: Route): boolean
}

const needs: readonly Need[] = [
  {
    id: 'auth/sign-in',
    why: 'without it, nobody gets a token',
    isNeededBy: ({ endpoint }) => endpoint.access !== 'public',
  },
  {
    id: 'jobs/show',
    why: 'without it, nobody sees how their jobs ended',
    isNeededBy: ({ endpoint: { job } }) => job?.always === true || job?.detached === true,
  },
  {
    id: 'events/subscribe',
    why: 'without it, there are no WebSockets',
    isNeededBy: ({ id }) => id === 'events/unsubscribe',
  },
]

const maxShown = 3

const formatIds = (routes: readonly Route[]): string => {
  const shown = routes.slice(0, maxShown).map(({ id }) => id)
  const hidden = routes.length - shown.length
  return [...shown, ...(hidden > 0 ? [`${hidden} more`] : [])].join(', ')
}

/** Throws `invalid` if one of all routes is not selected although selected ones need it. */
export const refuseMissingNeeds = (routes: readonly Route[], selected: readonly Route[]): void => {
  for (const { id, why, isNeededBy } of needs) {
    const users = selected.filter(isNeededBy)
    if (users.length > 0 && routes.some(route => route.id === id) && !selected.some(route => route.id === id))
      throw new ServiceError(
        'invalid',
        `routes_include and routes_exclude leave out ${id}, which ${formatIds(users)} ${users.length === 1 ? 'needs' : 'need'}: ${why}. Serve ${id} too, or leave these out.`,
      )
  }
}
