#include "audit/book.h"

#include <string.h>

const struct cause *cause_by_id(const char *id)
{
	for (const struct cause *c = causes; c->id; c++)
		if (!strcasecmp(c->id, id))
			return c;
	return NULL;
}
