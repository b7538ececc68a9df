import { type App, createApp } from '#lib/http/app.ts'
import { createReadiness } from '#lib/health/readiness.ts'
import { createOpenApi } from '#lib/http/openapi.ts'
import { apiDescription } from '#functions/api-description.ts'
import { routes } from '#functions/routes.edge.gen.ts'
import { version } from '#lib/compose/version.ts'

const openApp = (): App =>
  createApp({
    routes,
    services: {
      openapi: createOpenApi(routes, version, async () => ({ ...apiDescription, examples: {} })),
      readiness: createReadiness(() => undefined),
    },
    // Who may do what is known on the host alone; every endpoint that is served here is public.
    authenticate: async () => undefined,
    onOutcome: () => {},
    checkReplies: false,
  })

let app: App | undefined

export default {
  fetch(request: Request): Response | Promise<Response> {
    app ??= openApp()
    return app.fetch(request)
  },
}
