import { describeSilence, type StoredHost } from './stored-host.ts'

/** The record of a machine with the members that name its host as this service knows it. */
export const toRecordOfHost = <T extends object>(
  record: T,
  { id, name, url }: Pick<StoredHost, 'id' | 'name' | 'url'>,
): T & { host: string; host_id: string; host_url: string } => ({ ...record, host: name, host_id: id, host_url: url })

/** The last known record of a machine whose host does not answer now. The problem says so. */
export const toStaleRecord = <T extends object>(record: T, host: StoredHost): T => ({
  ...toRecordOfHost(record, host),
  host_state: 'unreachable',
  problem: describeSilence(host),
})
