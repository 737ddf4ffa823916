/**
 * What is wrong with the user that an image runs as. A name is refused too: a kubelet cannot tell whether it is root, and would not
 * start the container.
 */
export function userProblem(user: string, platform: string): string | undefined {
  const [name] = user.split(':');
  const of = platform === '' ? 'the image' : `the image for ${platform}`;
  const advice = 'build it with a number above 0, such as `USER 10001`';
  if (name === '') return `${of} has no USER, which means root; ${advice}`;
  if (name === 'root' || /^0+$/.test(name)) return `${of} has USER ${user}, which is root; ${advice}`;
  if (!/^[1-9]\d{0,9}$/.test(name)) return `${of} has USER ${user.slice(0, 100)}, of which nobody can tell whether it is root; ${advice}`;
  return undefined;
}
