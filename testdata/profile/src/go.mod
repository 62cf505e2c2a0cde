module profile

go 1.26
