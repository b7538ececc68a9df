import * as z from 'zod'

const Text = (most: number) => z.string().max(most)

/** Spec 2.9; `passphrase` and `fingerprint` are ours. */
const Request = z
  .object({
    host: Text(255)
      .trim()
      .regex(/^[\w.:%-]+$/, 'must be a host name or an IP address'),
    port: z.coerce.number().int().min(1).max(65_535).default(22),
    username: Text(255).min(1),
    password: Text(1024).optional(),
    key: Text(32_768)
      .optional()
      .meta({ description: 'Private key, in PEM or OpenSSH form; tried before the password' }),
    passphrase: Text(1024).optional().meta({ description: 'Of the key' }),
    command: Text(32_768).min(1),
    enable_insecure_key: z.boolean().default(false).meta({
      description: 'Do not look at the key of the host at all',
    }),
    fingerprint: z
      .string()
      .regex(/^SHA256:[A-Za-z0-9+/]{43}$/, 'must be SHA256: and 43 characters, as ssh-keygen -l prints it')
      .optional()
      .meta({ description: 'The key that the host must have' }),
  })
  .refine(({ password, key }) => Boolean(password) || Boolean(key), 'password or key must be there')
// The spec lets the body be left out; what is missing then is said by its name.
export const SshRequest = z.preprocess(body => body ?? {}, Request)
export type SshRequest = z.infer<typeof SshRequest>

export const SshResult = z
  .object({
    output: z
      .string()
      .meta({ description: 'What the command printed, on both of its outputs, in the order of arrival' }),
    error: z.string().meta({ description: 'Why it did not end well; empty when it did' }),
  })
  .meta({ id: 'SshResult' })
export type SshResult = z.infer<typeof SshResult>
