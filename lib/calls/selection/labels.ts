import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'

/** The most labels of a machine. */
const maxLabels = 64

const name = '[A-Za-z0-9](?:[A-Za-z0-9_./-]{0,61}[A-Za-z0-9])?'
const value = '(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?'

const nameRule = 'must be 1 to 63 letters, digits, ., _, / and -, with a letter or digit at both ends'
export const LabelName = z.string().regex(new RegExp(`^${name}$`), nameRule)
export const LabelValue = z
  .string()
  .regex(
    new RegExp(`^${value}$`),
    'must be at most 63 letters, digits, ., _ and -, with a letter or digit at both ends',
  )

/** The labels of a machine. Names and values have the syntax of Kubernetes. */
export const Labels = z
  .record(LabelName, LabelValue, {
    error: issue => (issue.code === 'invalid_key' ? nameRule : undefined),
  })
  .refine(labels => Object.keys(labels).length <= maxLabels, `must be at most ${maxLabels}`)

/** Whether the labels of a machine match a selector. */
export type Selector = (labels: Readonly<Record<string, string>>) => boolean

/** One condition of a selector, up to the comma that ends it. */
const condition = new RegExp(
  `\\s*(?:(?<absent>!)\\s*)?(?<name>${name})\\s*` +
    `(?:(?<operator>==?|!=)\\s*(?<value>${value})|\\s(?<set>in|notin)\\s*\\((?<values>[^()]*)\\))?\\s*(?:,|$)`,
  'y',
)

const toSelector = ({
  absent,
  name = '',
  operator,
  value = '',
  set,
  values = '',
}: Record<string, string>): Selector => {
  if (set) {
    const members = new Set(values.split(',').map(text => text.trim()))
    return labels => {
      const label = Object.hasOwn(labels, name) ? labels[name] : undefined
      return (label !== undefined && members.has(label)) === (set === 'in')
    }
  }
  if (operator) return labels => (labels[name] === value) === (operator !== '!=')
  return labels => Object.hasOwn(labels, name) === (absent === undefined)
}

/**
 * Parses a selector in the syntax of Kubernetes: conditions `name=value`, `name!=value`, `name in (a, b)`, `name notin (a, b)`,
 * `name` and `!name`, joined by commas, which all must hold. Throws `invalid`.
 */
export const parseSelector = (text: string): Selector => {
  const conditions: Selector[] = []
  for (let at = 0; at < text.length; at = condition.lastIndex) {
    condition.lastIndex = at
    const groups = condition.exec(text)?.groups
    if (!groups || (groups['absent'] && (groups['operator'] ?? groups['set'])))
      throw new ServiceError(
        'invalid',
        `labels: ${JSON.stringify(text.slice(at, at + 80))} is not a selector. Write name=value, name!=value, name in (a,b), name notin (a,b), name or !name, joined by commas.`,
      )
    // The groups that did not take part in the match are undefined, which their type does not say.
    conditions.push(toSelector(groups))
  }
  return labels => conditions.every(holds => holds(labels))
}
