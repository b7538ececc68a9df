import * as z from 'zod'
import { accessSettings, signInSettings } from './access-settings.ts'
import { ConfigError } from './config-error.ts'
import { createEnvironmentLayer, readSettings, type SettingValues } from './read-settings.ts'
import { catalogSettings, retentionSettings, servingSettings, subscriptionSettings } from './service-settings.ts'

const { root_password, cors_origins } = accessSettings

/** The settings of the service that a control at the edge has too. They come from the variables and secrets of its script. */
const edgeSettings = {
  issuer: {
    schema: z.string().min(1).max(2048),
    default: 'vmhost',
    help: 'name of this service in the setting trusted_issuers of its hosts',
  },
  root_password,
  cors_origins,
  ...signInSettings,
  ...retentionSettings,
  ...subscriptionSettings,
  ...catalogSettings,
  ...servingSettings,
} as const

export type EdgeConfig = SettingValues<typeof edgeSettings> & { readonly root_password: string }

/** Reads the settings of a control from its environment. Throws ConfigError. */
export const readEdgeConfig = (environment: Readonly<Record<string, unknown>>): EdgeConfig => {
  const config = readSettings(
    edgeSettings,
    [createEnvironmentLayer(environment)],
    'docs/edge.md lists those of the edge',
  )
  const { root_password, password_hash } = config
  // Nobody would see a password that the first start generates.
  if (root_password === undefined)
    throw new ConfigError('VMHOST_ROOT_PASSWORD is missing: set this secret to the password of the user root')
  if (password_hash === 'sha256')
    throw new ConfigError(
      'VMHOST_PASSWORD_HASH is sha256, which the edge cannot use: its platform refuses PBKDF2 above 100,000 iterations, which are too few; leave it at bcrypt',
    )
  return { ...config, root_password }
}
