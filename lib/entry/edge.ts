import { type App, createApp } from '#lib/http/app.ts'
import { apiDescription } from '#functions/api-description.ts'
import { routes } from '#functions/routes.edge.gen.ts'
import { composePublicServices } from '#lib/compose/public-services.ts'

const openApp = (): App =>
  createApp({
    routes,
    services: composePublicServices({
      routes,
      loadApiDescription: async () => ({ ...apiDescription, examples: {} }),
      getFailure: () => undefined,
    }),
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
