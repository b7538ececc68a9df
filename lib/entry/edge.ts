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
    // Only the host knows users and their rights, so the edge serves public endpoints only.
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
