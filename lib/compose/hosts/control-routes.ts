import { routes } from '#functions/routes.gen.ts'
import { forwardRoute } from '#lib/hosts/forward/forward-route.ts'
import type { Route } from '#lib/http/endpoint.ts'

/** The routes of a control. Those that need a host are forwarded. */
export const controlRoutes: readonly Route[] = routes.map(forwardRoute)
