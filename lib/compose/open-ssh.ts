import { join } from 'node:path'
import { createResolveHost } from '#lib/ssh/allowed-hosts.ts'
import { createHostKeyChecks } from '#lib/ssh/host-keys.ts'
import { createSsh, type Ssh } from '#lib/ssh/ssh.ts'
import type { Config } from './config.ts'

/** Creates SSH as the settings say. Known keys of hosts are in the state folder. */
export const openSsh = (config: Config): Ssh =>
  createSsh({
    startHostKeyCheck: createHostKeyChecks({
      file: join(config.state, 'ssh', 'known_hosts'),
      policy: config.ssh_host_keys,
    }),
    resolveHost: createResolveHost(config.ssh_allowed_hosts),
    connectLimit: config.ssh_connect_timeout * 1000,
    runLimit: config.ssh_run_timeout * 1000,
    outputLimit: config.ssh_output_limit,
  })
