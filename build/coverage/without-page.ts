import type { OperationName } from '#lib/commands/definition.ts'

const ofPrograms = 'It is for programs.'
const listHasIt = 'The list that the page reads has the same.'

/** Why an operation has no page in the web console. */
export const withoutPage: Partial<Readonly<Record<OperationName, string>>> = {
  'auth.publicKeys': 'Programs verify tokens with the keys.',
  'auth.showApiKey': listHasIt,
  'auth.signIn': 'It gives programs a token; the console has a session.',
  'auth.validateOwnToken': ofPrograms,
  'auth.validateToken': ofPrograms,
  'catalog.download':
    'A browser would have to keep the whole pack in memory; curl and the command line write it to a file.',
  'catalog.importVm':
    'It needs paths and sizes that only the maker of the pack knows; `vmhost catalog import-vm` takes them.',
  'catalog.pull': 'It is the same as the asynchronous form, which the console uses.',
  'catalog.push': 'It is the same as the asynchronous form, which the console uses.',
  'catalog.register': 'It takes a whole manifest, which programs write.',
  'catalog.show': listHasIt,
  'catalogManagers.catalogDownload': 'As the download of this catalog: curl and the command line write it to a file.',
  'catalogManagers.catalogImport': 'It belongs on the console of the other service.',
  'catalogManagers.catalogImportVm': 'It belongs on the console of the other service.',
  'catalogManagers.catalogPull': 'It is the same as the asynchronous form, which the console uses.',
  'catalogManagers.catalogPush': 'It is the same as the asynchronous form.',
  'catalogManagers.catalogRegister': 'It takes a whole manifest, which programs write.',
  'catalogManagers.catalogShow': listHasIt,
  'catalogManagers.show': listHasIt,
  'claims.listGrouped': listHasIt,
  'claims.show': listHasIt,
  'events.subscribe': 'The console reads the stream of server-sent events, which needs no ticket.',
  'events.unsubscribe': 'It changes the subscription of a WebSocket, which the console does not open.',
  'health.probe': 'Load balancers and monitors ask for it.',
  'hosts.heartbeat': 'Hosts send it.',
  'hosts.pack': 'Hosts read it.',
  'hosts.show': listHasIt,
  'images.show': listHasIt,
  'images.showUpload': 'The command line uploads large files, and goes on after an interruption.',
  'images.upload': 'The command line uploads large files, and goes on after an interruption.',
  'jobs.show': listHasIt,
  'machines.readFile': '`vmhost cp` copies files, also large ones.',
  'machines.screenshot': 'The page shows the screen itself.',
  'machines.show': listHasIt,
  'machines.showSnapshot': listHasIt,
  'machines.status': listHasIt,
  'machines.tunnel': 'Only programs can use a tunnel: `vmhost tunnel`.',
  'machines.wait': 'The pages follow the events.',
  'machines.writeFile': '`vmhost cp` copies files, also large ones.',
  'metrics.show': 'Prometheus reads it; docs/dashboards has pages for Grafana.',
  'openapi.show': 'The reference at /docs/api shows it.',
  'pools.show': listHasIt,
  'pools.update':
    'It replaces the whole definition, of which nobody sees the user data again; `vmhost pools update` has it in a file.',
  'roles.listClaims': listHasIt,
  'roles.show': listHasIt,
  'snapshotSchedules.delete':
    '`vmhost machines snapshot-schedules` has it; the page of a machine shows the snapshots that schedules make.',
  'snapshotSchedules.list':
    '`vmhost machines snapshot-schedules` has it; the page of a machine shows the snapshots that schedules make.',
  'snapshotSchedules.set':
    '`vmhost machines snapshot-schedules` has it; the page of a machine shows the snapshots that schedules make.',
  'userConfigs.show': listHasIt,
  'users.listClaims': listHasIt,
  'users.listRoles': listHasIt,
  'users.show': listHasIt,
}
