import type { OperationName } from '#lib/commands/definition.ts'
import { commandGroups } from './groups.ts'

/** The operations of the commands that are written by hand. */
export const handWritten: Readonly<Record<string, readonly OperationName[]>> = {
  exec: ['machines.execute'],
  cp: ['machines.readFile', 'machines.writeFile'],
  console: ['machines.console'],
  tunnel: ['machines.tunnel'],
  'users list': ['users.list'],
  'users add': ['users.create'],
  'users grant': ['users.giveRole', 'users.giveClaim'],
  'users revoke': ['users.takeRole', 'users.takeClaim'],
  'users set-password': ['users.update'],
  'users unlock': ['users.unlock'],
  'users remove': ['users.delete'],
  'roles list': ['roles.list'],
  'roles add': ['roles.create'],
  'roles grant': ['roles.addClaim'],
  'roles revoke': ['roles.removeClaim'],
  'roles remove': ['roles.delete'],
  'claims list': ['claims.list'],
  'claims add': ['claims.create'],
  'claims remove': ['claims.delete'],
  'keys rotate': ['auth.rotateKey'],
  link: ['auth.createLink'],
  login: ['auth.signIn', 'auth.validateOwnToken'],
  logout: ['auth.signOut'],
  'audit list': ['audit.list'],
  'audit export': ['audit.list'],
  'catalog list': ['catalog.list'],
  'catalog show': ['catalog.show'],
  'catalog push': ['catalog.pushAsync'],
  'catalog pull': ['catalog.pullAsync'],
  'catalog import': ['catalog.import'],
  'catalog clean': ['catalog.garbage'],
  'catalog taint': ['catalog.taint'],
  'catalog untaint': ['catalog.untaint'],
  'catalog revoke': ['catalog.revoke'],
  'catalog delete': ['catalog.delete'],
  'jobs list': ['jobs.list'],
  'jobs show': ['jobs.show'],
  'jobs cancel': ['jobs.cancel'],
  events: ['events.stream'],
}

/** Why an operation has no command. `vmhost api` calls each of them that is no WebSocket. */
export const withoutCommand: Partial<Readonly<Record<OperationName, string>>> = {
  'auth.createTicket': 'Tickets are for WebSockets of browsers; commands send their token.',
  'auth.openSession': 'The web console signs in a browser with it.',
  'auth.showSession': 'The web console asks for the session of a browser with it.',
  'auth.useLink': 'The page behind the link of `vmhost link` uses it.',
  'catalog.pull': 'It is the same as the asynchronous form, which `vmhost catalog pull` follows.',
  'catalog.push': 'It is the same as the asynchronous form, which `vmhost catalog push` follows.',
  'catalogManagers.catalogPullAsync':
    'It is the same as the other form, which `vmhost managers catalog pull` runs as a job.',
  'catalogManagers.catalogPushAsync':
    'It is the same as the other form, which `vmhost managers catalog push` runs as a job.',
  'events.subscribe': 'A WebSocket for programs; `vmhost events --follow` reads the stream.',
  'machines.screen': 'A WebSocket for viewers of the RFB protocol; the web console has one.',
}

/** The commands of each operation. */
export const findCommands = (): ReadonlyMap<string, readonly string[]> => {
  const pairs = [
    ...commandGroups.flatMap(({ name, commands }) =>
      commands.map(command => [command.operation, `${name} ${command.name}`.trim()] as const),
    ),
    ...Object.entries(handWritten).flatMap(([name, operations]) => operations.map(each => [each, name] as const)),
  ]
  return new Map(
    [...Map.groupBy(pairs, ([operation]) => operation)].map(([operation, found]) => [
      operation,
      found.map(([, command]) => command),
    ]),
  )
}
