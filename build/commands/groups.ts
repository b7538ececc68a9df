import { catalog } from '#lib/commands/catalog.ts'
import type { CommandGroup } from '#lib/commands/definition.ts'
import { events } from '#lib/commands/events.ts'
import { hosts } from '#lib/commands/hosts.ts'
import { apiKeys, claims, keys, password, roles, users } from '#lib/commands/identity.ts'
import { images } from '#lib/commands/images.ts'
import { jobs } from '#lib/commands/jobs.ts'
import { machines } from '#lib/commands/machines.ts'
import { managers } from '#lib/commands/managers.ts'
import { pools } from '#lib/commands/pools.ts'
import { health, license, metrics, openapi, sshExecute, userConfigs } from '#lib/commands/service.ts'

/** All groups whose commands are data. The program loads only the one that is called. */
export const commandGroups: readonly CommandGroup[] = [
  machines,
  images,
  pools,
  hosts,
  users,
  roles,
  claims,
  keys,
  apiKeys,
  password,
  userConfigs,
  catalog,
  managers,
  jobs,
  events,
  health,
  metrics,
  license,
  sshExecute,
  openapi,
]
