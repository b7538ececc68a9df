import { Command } from 'commander'
import type { ClaimWithUsers } from '#lib/auth/role-schemas.ts'
import { formatJson, formatTable } from '../admin/text-table.ts'
import { claims as group } from '#lib/commands/identity.ts'
import { createGroupCommand } from '../definitions/create-commands.ts'
import type { CommandContext } from './context.ts'
import type { TextOptions } from './invocation.ts'

const toRow = ({ name, group = 'Custom', resource = '', users }: ClaimWithUsers): readonly string[] => [
  name,
  group,
  resource,
  users.map(({ username }) => username).join(' '),
]

/** `vmhost claims …` */
export const createClaimsCommand = (context: CommandContext): Command => {
  const register = context.createRegister('identity')
  const claims = new Command('claims')

  register(
    claims.command('list').description('List the claims').option('--json', 'as JSON'),
    async ({ client }, { options }) => {
      const all = await client.api.claims.list()
      if (options['json']) console.log(formatJson(all))
      else console.log(formatTable([['CLAIM', 'GROUP', 'ABOUT', 'HELD DIRECTLY BY'], ...all.map(toRow)]))
    },
  )
  register<TextOptions>(
    claims
      .command('add')
      .description('Add a claim, which catalog manifests can require')
      .argument('<claim>')
      .option('--description <text>', 'purpose of the claim'),
    async ({ client }, { args: [name = ''], options: { description } }) => {
      const claim = await client.api.claims.create({ body: { name, description } })
      console.log(`Added ${claim.name}.`)
    },
  )
  register(
    claims
      .command('remove')
      .description('Delete a claim that was added here and that no user holds')
      .argument('<claim>'),
    async ({ client }, { args: [claim = ''] }) => {
      await client.api.claims.delete({ params: { id: claim } })
      console.log(`Removed ${claim}.`)
    },
  )
  return createGroupCommand(group, context, claims)
}
