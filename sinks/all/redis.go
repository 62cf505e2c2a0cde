package all

import (
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/redis"
)

// RedisOptions are those of a shared cache.
type RedisOptions = redis.Options

// OpenRedis makes the shared cache at url, see redis.New.
func OpenRedis(url string, o RedisOptions) (cache sinks.RowCache, close func(), err error) {
	c, err := redis.New(url, o)
	if err != nil {
		return nil, nil, err
	}
	return c, c.Close, nil
}
