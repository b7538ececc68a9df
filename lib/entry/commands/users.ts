import { Command } from 'commander'
import type { UserRecord } from '#lib/auth/user-schemas.ts'
import type { Config } from '#lib/config.ts'
import { characterKindNames, createPasswordRules } from '#lib/auth/password-policy.ts'
import { readPassword } from '../read-password.ts'
import { jsonText, tableText } from '../table.ts'
import { list, type Run } from './run.ts'

interface Granted {
  readonly role: readonly string[]
  readonly claim: readonly string[]
}

const at = (user: string, ...rest: readonly string[]): string =>
  ['/auth/users', user, ...rest].map((part, index) => (index === 0 ? part : encodeURIComponent(part))).join('/')

const withGrants = (command: Command): Command =>
  command
    .option('--role <name>', 'a role; may be repeated', list, [])
    .option('--claim <name>', 'a claim; may be repeated', list, [])

const rowOf = (user: UserRecord): readonly string[] => [
  user.username,
  user.email,
  user.name,
  user.roles.join(' '),
  user.locked_until ? `locked until ${user.locked_until}` : '',
]

/** `vmhost users …` */
export const usersCommand = (run: Run): Command => {
  const users = new Command('users').description('The people who can sign in')
  /** A password that was made up is shown when it has been taken. */
  const password = async (whose: string, generate: boolean, config: Config) => {
    if (!generate) return { secret: await readPassword(whose), show: () => {} }
    const { password_min_length: shortest, password_max_length: longest } = config
    const secret = createPasswordRules({ shortest, longest, kinds: characterKindNames }).random()
    return { secret, show: () => console.log(`${whose.replace('the', 'The')}: ${secret}`) }
  }

  run(users.command('list').description('List the users').option('--json', 'as JSON'), async (ask, { options }) => {
    const all = await ask<UserRecord[]>('GET', '/auth/users')
    if (options['json']) console.log(jsonText(all))
    else console.log(tableText([['USER', 'E-MAIL', 'NAME', 'ROLES', ''], ...all.map(rowOf)]))
  })
  run(
    withGrants(users.command('add').description('Add a user; the password comes from a prompt or standard input'))
      .argument('<user>', 'user name')
      .requiredOption('--email <address>', 'e-mail address')
      .option('--name <name>', 'full name; the user name when left out')
      .option('--super-user', 'with every right')
      .option('--generate', 'make up a password and show it')
      .option('--no-password', 'without a password: only API keys that others make for them'),
    async (ask, { args: [username = ''], options, config }) => {
      const { email, name, superUser, generate, role, claim } = options as unknown as Granted & Record<string, string>
      const chosen =
        options['password'] === false
          ? undefined
          : await password(`the password of ${username}`, Boolean(generate), config)
      const user = await ask<UserRecord>('POST', '/auth/users', {
        username,
        email,
        name: name ?? username,
        ...(chosen && { password: chosen.secret }),
        ...(superUser && { is_super_user: true }),
        ...(role.length > 0 && { roles: role }),
        ...(claim.length > 0 && { claims: claim }),
      })
      chosen?.show()
      console.log(`Added ${user.username} with ${user.roles.join(', ') || 'no role'}.`)
    },
  )
  const grants = async (
    options: Readonly<Record<string, unknown>>,
    each: (kind: 'roles' | 'claims', name: string) => Promise<void>,
  ): Promise<void> => {
    const { role, claim } = options as unknown as Granted
    if (role.length + claim.length === 0) users.error('error: say what, with --role or --claim')
    for (const name of role) await each('roles', name)
    for (const name of claim) await each('claims', name)
  }
  run(
    withGrants(users.command('grant').description('Give a user roles and claims')).argument('<user>'),
    async (ask, { args: [user = ''], options }) =>
      grants(options, async (kind, name) => {
        await ask('POST', at(user, kind), { name })
        console.log(`${user} has ${name}.`)
      }),
  )
  run(
    withGrants(users.command('revoke').description('Take roles and claims from a user')).argument('<user>'),
    async (ask, { args: [user = ''], options }) =>
      grants(options, async (kind, name) => {
        await ask('DELETE', at(user, kind, name))
        console.log(`${user} does not have ${name} any more.`)
      }),
  )
  run(
    users
      .command('set-password')
      .description('Give a user a new password, from a prompt or standard input')
      .argument('<user>')
      .option('--generate', 'make one up and show it'),
    async (ask, { args: [user = ''], options, config }) => {
      const { secret, show } = await password(`the new password of ${user}`, options['generate'] === true, config)
      await ask('PUT', at(user), { password: secret })
      show()
      console.log(`${user} has a new password; every token of theirs has ended.`)
    },
  )
  run(
    users.command('unlock').description('Let a user sign in again after too many wrong passwords').argument('<user>'),
    async (ask, { args: [user = ''] }) => {
      await ask('DELETE', at(user, 'lock'))
      console.log(`${user} can sign in again, but from addresses that are locked themselves.`)
    },
  )
  run(
    users.command('remove').description('Delete a user with their API keys and settings').argument('<user>'),
    async (ask, { args: [user = ''] }) => {
      await ask('DELETE', at(user))
      console.log(`Removed ${user}.`)
    },
  )
  return users
}
