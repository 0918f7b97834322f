import { expect, test } from 'vitest';

test('stands alone', () => expect('a').toBe('a'));
