import { importSPKI } from 'jose'
import { createTokens, type Tokens } from '#lib/auth/tokens.ts'
import { type App, createApp } from '#lib/http/app.ts'
import { createOpenApi } from '#lib/http/openapi.ts'
import { routes } from '#functions/routes.edge.gen.ts'
import { version } from './version.ts'

/** What wrangler.toml binds. */
interface Environment {
  /** The public half of the host's signing key, SPKI in PEM: the edge verifies tokens and issues none. */
  readonly VMHOST_PUBLIC_KEY: string
}

const digest = async (text: string): Promise<string> => {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return new Uint8Array(bytes).join()
}

const openTokens = async ({ VMHOST_PUBLIC_KEY: pem }: Environment): Promise<Tokens> => {
  const verification = await importSPKI(pem, 'RS256')
  return createTokens({ keys: { algorithm: 'RS256', find: () => ({ verification }) }, lifetime: 0, digest })
}

const openApp = async (environment: Environment): Promise<App> =>
  createApp({
    routes,
    services: { tokens: await openTokens(environment), openapi: createOpenApi(routes, version) },
    // Who may do what is known on the host alone; every endpoint that is served here is public.
    authenticate: async () => undefined,
    observe: () => {},
    checkReplies: false,
  })

let app: Promise<App> | undefined

export default {
  async fetch(request: Request, environment: Environment): Promise<Response> {
    app ??= openApp(environment)
    return (await app).fetch(request)
  },
}
