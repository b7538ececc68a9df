import type { Command } from 'commander'
import { ServiceError } from '#lib/errors.ts'
import { readConnection } from '../admin/read-connection.ts'

export const addJsonOption = (command: Command): Command =>
  command.option('--json', 'print only the resulting record, as JSON')

/** The option or argument of each field of a transfer's request, for messages. */
export const transferFlags = {
  catalog_id: '<catalog-id>',
  version: '--version',
  architecture: '--architecture',
  connection: '--connection',
  uuid: '--machine',
  local_path: '--local-path',
  machine_name: '--name',
  description: '--description',
  tags: '--tag',
  required_claims: '--required-claim',
  required_roles: '--required-role',
  compress_pack_level: '--level',
  compress_format: '--format',
} as const

/** Reads the connection that the options name, or else the default. Throws `invalid` if there is neither. */
export const requireConnection = async (
  option: string | undefined,
  defaultConnection: string | undefined,
): Promise<string> => {
  const connection = (await readConnection(option)) ?? defaultConnection
  if (connection !== undefined) return connection
  throw new ServiceError(
    'invalid',
    'Name the provider with --connection or VMHOST_CONNECTION, such as provider=local-storage.',
  )
}
