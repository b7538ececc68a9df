import * as z from 'zod'

const Required = z.string().min(1)
const Optional = z.string().optional()
/** On for `true` in any case, and off for any other text. */
const Flag = z
  .string()
  .transform(text => text.toLowerCase() === 'true')
  .optional()

/** The settings of local storage. Without a path it is the catalog's own folder. */
export const LocalSettings = z.object({ catalog_path: Optional })
export type LocalSettings = z.infer<typeof LocalSettings>

const bucketSettings = z.object({
  bucket: Required,
  region: Optional,
  endpoint: Optional,
  use_ssl: Flag,
  ignore_cert: Flag,
  use_environment_authentication: Flag,
  access_key: Optional,
  secret_key: Optional,
  session_token: Optional,
})
export type BucketSettings = z.infer<typeof bucketSettings>

/** Asks for credentials, unless they are those of the environment. */
const checkKeys = (settings: BucketSettings, context: z.RefinementCtx): void => {
  const missing = (['access_key', 'secret_key'] as const).find(key => !settings[key])
  if (missing && !settings.use_environment_authentication) context.addIssue({ code: 'custom', path: [missing] })
}

/** The settings of a bucket of AWS. */
export const AwsSettings = bucketSettings.extend({ region: Required }).superRefine(checkKeys)
/** The settings of a bucket of another server. */
export const MinioSettings = bucketSettings.extend({ endpoint: Required }).superRefine(checkKeys)

/** The settings of a container of Azure. */
export const ContainerSettings = z.object({
  storage_account_name: Required,
  container_name: Required,
  storage_account_key: Required,
  endpoint: Optional,
})
export type ContainerSettings = z.infer<typeof ContainerSettings>

/** Says which credentials of a repository are missing, or too many; undefined when they are right. */
const findCredentialFault = (settings: {
  readonly access_key?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
}): string | undefined => {
  const { access_key, username, password } = settings
  if (access_key) return username || password ? 'an access_key or a username and password, not both' : undefined
  if (!username && !password) return 'an access_key, or a username and password'
  if (!username) return 'a username with the password'
  return password ? undefined : 'a password with the username'
}

/** The settings of a repository of Artifactory, or of another WebDAV server. */
export const RepositorySettings = z
  .object({
    url: Required,
    repo: Required,
    port: Optional,
    access_key: Optional,
    username: Optional,
    password: Optional,
  })
  .superRefine((settings, context) => {
    const message = findCredentialFault(settings)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })
export type RepositorySettings = z.infer<typeof RepositorySettings>

/** The settings of a repository of an OCI registry. */
export const RegistrySettings = z.object({
  registry: Required,
  repository: Required,
  mount_from: Optional,
  username: Optional,
  password: Optional,
})
export type RegistrySettings = z.infer<typeof RegistrySettings>

/** Names the first required setting that is missing, or says in words what is wrong; undefined for valid settings. */
export const findMissing = (error: z.ZodError): string => {
  const [issue] = error.issues
  return issue?.path[0] === undefined ? (issue?.message ?? '') : String(issue.path[0])
}
