# Oracle of Fine and Gray's model under late entry and for weighted people: finegray + coxph.
# Run from the repository root: Rscript test/oracles/history/fine-gray.R   (writes test/oracles/history/fine-gray.json)
suppressMessages({library(survival); library(jsonlite)}); options(warn=1)
tight<-coxph.control(eps=1e-13,toler.chol=1e-14,iter.max=50)
d<-read.csv("test/tables/mgus2.csv"); d$e<-factor(d$event,c("censored","pcm","death")); d$male<-1*(d$sex=="M")
# Years make ties of entries, events and censorings; a row that would be empty then leaves half a year later.
d$from<-floor(d$ageMonths/12); d$to<-ceiling(d$exitMonths/12); d$to<-ifelse(d$to==d$from,d$from+0.5,d$to)
d$late<-ifelse(d$id%%3==0,0,pmin(d$months%/%5,7)); d$late<-ifelse(d$late>=d$months,0,d$late)
people<-data.frame(male=c(0,1),hgb=c(12,14),creat=c(1,1.5))
fit<-function(formula,etype,ties,weighted,times){
  f<-finegray(formula,data=d,etype=etype,id=id); f$w<-f$fgwt*(if(weighted) f$weight else 1)
  m<-coxph(Surv(fgstart,fgstop,fgstatus)~male+hgb+creat,f,weights=w,cluster=id,ties=ties,control=tight)
  s<-summary(survfit(m,newdata=people),times=times,extend=TRUE)
  list(coef=unname(coef(m)),se=unname(sqrt(diag(m$naive.var))),robust=unname(sqrt(diag(m$var))),loglik=m$loglik,times=times,incidence=t(1-s$surv))
}
late<-Surv(late,months,e)~.; age<-Surv(ageMonths,exitMonths,e)~.; tied<-Surv(from,to,e)~.; start<-Surv(months,e)~.
cases<-list(late=fit(late,"pcm","efron",FALSE,c(12,60,240)),age=fit(age,"pcm","efron",FALSE,c(720,900,1080)),
 tied=fit(tied,"death","breslow",FALSE,c(60,75,90)),weights=fit(start,"death","efron",TRUE,c(12,60,240)),both=fit(tied,"pcm","efron",TRUE,c(60,75,90)))
writeLines(toJSON(c(list(source=paste0("R ",getRversion(),", survival ",packageVersion("survival"))),cases),digits=I(17),auto_unbox=TRUE),"test/oracles/history/fine-gray.json")
