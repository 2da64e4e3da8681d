/** The `like` pattern that finds a text anywhere, with the wildcards of the text escaped. */
export const likeText = (part: string): string => `%${part.replace(/[\\%_]/g, '\\$&')}%`
