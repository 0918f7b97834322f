const assert = require('node:assert');

describe('sums', () => {
  it('adds', () => {
    console.log('99 passing');
    assert.equal(1 + 1, 2);
  });
  it('adds again', () => assert.equal(2 + 1, 3));
  it('breaks', () => assert.equal(1 + 1, 3));
  it.skip('waits', () => {});
  it('later');
});

it('stands alone', () => assert.ok(true));
