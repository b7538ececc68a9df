import { routes } from '#functions/routes.gen.ts'
import type { Route } from '#lib/http/endpoint.ts'

/** The services that only a control has. */
export const controlServiceNames = ['hosts', 'forwarding', 'servedPacks'] as const

/** Whether only a control can serve a route. */
export const needsControl = ({ endpoint: { uses } }: Route): boolean =>
  uses.some(name => controlServiceNames.some(own => own === name))

/** The routes of a program that runs machines itself: an endpoint whose services a program lacks is not served there. */
export const hostRoutes: readonly Route[] = routes.filter(route => !needsControl(route))
