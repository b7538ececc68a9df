import { type CommandGroup, filter, type Input } from './definition.ts'

const user: Input = { flag: '<user>', to: 'params.id', about: 'user name, e-mail address or id' }
const role: Input = { flag: '<role>', to: 'params.id', about: 'name of the role' }

/** The commands of `vmhost users` that read no password. */
export const users: CommandGroup = {
  name: 'users',
  offline: 'identity',
  commands: [
    {
      name: 'show',
      operation: 'users.show',
      summary: 'Show a user',
      inputs: [user],
      rows: [
        ['user', 'username'],
        ['id', 'id'],
        ['name', 'name'],
        ['e-mail', 'email'],
        ['roles', 'roles'],
        ['claims', 'claims'],
        ['super user', 'isSuperUser'],
        ['locked until', 'locked_until', 'time'],
        ['created', 'created_at', 'time'],
      ],
    },
    {
      name: 'update',
      operation: 'users.update',
      summary: 'Change the name or the e-mail address of a user',
      inputs: [
        user,
        { flag: '--name <name>', to: 'body.name', about: 'full name' },
        { flag: '--email <address>', to: 'body.email', about: 'e-mail address' },
      ],
      says: 'Changed {user}.',
    },
    { name: 'roles', operation: 'users.listRoles', summary: 'List the roles of a user', inputs: [user] },
    {
      name: 'claims',
      operation: 'users.listClaims',
      summary: 'List the claims that a user holds directly',
      inputs: [user],
    },
  ],
}

/** The commands of `vmhost roles` that show one role. */
export const roles: CommandGroup = {
  name: 'roles',
  offline: 'identity',
  commands: [
    { name: 'show', operation: 'roles.show', summary: 'Show a role', inputs: [role] },
    { name: 'claims', operation: 'roles.listClaims', summary: 'List the claims of a role', inputs: [role] },
  ],
}

/** The commands of `vmhost claims` beside the list. */
export const claims: CommandGroup = {
  name: 'claims',
  offline: 'identity',
  commands: [
    {
      name: 'show',
      operation: 'claims.show',
      summary: 'Show a claim',
      inputs: [{ flag: '<claim>', to: 'params.id', about: 'name of the claim' }],
    },
    { name: 'grouped', operation: 'claims.listGrouped', summary: 'List the claims by what they protect' },
  ],
}

/** The commands of `vmhost keys` that show keys and what they have signed. */
export const keys: CommandGroup = {
  name: 'keys',
  commands: [
    {
      name: 'show',
      operation: 'auth.publicKeys',
      summary: 'Show the public keys that verify tokens; --json has them whole',
      items: 'keys',
      columns: [
        ['KEY', 'kid'],
        ['TYPE', 'kty'],
        ['ALGORITHM', 'alg'],
        ['USE', 'use'],
      ],
    },
    {
      name: 'verify',
      operation: 'auth.validateToken',
      summary: 'Verify a token; a prompt or standard input gives it',
      inputs: [{ flag: '<token>', to: 'body.token', kind: 'secret', about: 'token of a user' }],
    },
  ],
}

/** `vmhost password` */
export const password: CommandGroup = {
  name: 'password',
  commands: [
    {
      name: '',
      operation: 'auth.changePassword',
      summary: 'Change your own password; this ends all of your tokens',
      inputs: [
        { flag: '<password>', to: 'body.password', kind: 'secret', about: 'your password' },
        { flag: '<new-password>', to: 'body.new_password', kind: 'secret', about: 'the new one' },
      ],
    },
  ],
}

const apiKey: Input = { flag: '<api-key>', to: 'params.id', about: 'name or id of the API key' }

/** `vmhost api-keys …` */
export const apiKeys: CommandGroup = {
  name: 'api-keys',
  commands: [
    {
      name: 'list',
      alias: 'ls',
      operation: 'auth.listApiKeys',
      summary: 'List the API keys',
      inputs: [filter],
      columns: [
        ['NAME', 'name'],
        ['ID', 'id'],
        ['USER', 'user_id'],
        ['REVOKED', 'revoked'],
        ['EXPIRES', 'expires_at', 'time'],
        ['CLAIMS', 'claims'],
      ],
      empty: 'There are no API keys.',
    },
    { name: 'show', operation: 'auth.showApiKey', summary: 'Show an API key', inputs: [apiKey] },
    {
      name: 'create',
      operation: 'auth.createApiKey',
      summary: 'Create an API key; its credential is shown once',
      inputs: [
        { flag: '<name>', to: 'body.name', about: 'name that people read' },
        { flag: '--user <user>', to: 'body.user_id', about: 'whose key it is; default: yours' },
        {
          flag: '--claim <claim>',
          to: 'body.claims',
          kind: 'list',
          about: 'only these claims of the user; repeatable',
        },
        { flag: '--expires <time>', to: 'body.expires_at', about: 'end, for example 2026-12-31T08:00:00Z' },
      ],
    },
    {
      name: 'revoke',
      operation: 'auth.revokeApiKey',
      summary: 'Revoke an API key for good; its record stays',
      inputs: [apiKey],
      says: 'Revoked {api-key}.',
    },
    {
      name: 'delete',
      alias: 'rm',
      operation: 'auth.deleteApiKey',
      summary: 'Delete an API key',
      inputs: [apiKey],
      says: 'Deleted {api-key}.',
    },
  ],
}
